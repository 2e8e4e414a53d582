(start $begin)
(func $begin (loop $on (br $on)))
