(func (export "cabi_post_call") (param i32) (loop $on (br $on)))
