(table 0xfffffff0 funcref)
