(data (i32.const 8192) "not today")
(func (export "verify") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 4096) (i32.const 1)) (i32.store (i32.const 4104) (i32.const 8192)) (i32.store (i32.const 4108) (i32.const 9)) (i32.const 4096))
