"""Games played concurrently: in threads of this process, and with Ray on other processes and machines."""
