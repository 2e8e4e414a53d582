(memory (export "memory") 2 65536)
