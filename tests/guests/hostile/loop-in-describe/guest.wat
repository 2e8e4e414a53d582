(func (export "describe") (result i32)
  (loop $on (br $on)) unreachable)
