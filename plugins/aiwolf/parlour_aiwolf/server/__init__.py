"""Agents of the AIWolf contest at our tables, over the contest's own protocol.

`game_info` says in AIWolf's form what a seat may know, `connection` reads its lines, `agent` is a connected agent as a policy,
and `contest` deals the games and counts them. Sources of the protocol: `aiwolf/AIWolfCommon` (package `net`) and
`aiwolf/AIWolfServer` (`TcpipServer`), version 0.6.
"""
