"""Tests; the folders mirror the packages that they test."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
