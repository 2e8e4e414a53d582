(data (i32.const 8192) "match</td>")
(func (export "verify") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
  (drop (call $score (f64.const 1))) (i32.store (i32.const 4112) (i32.const 8192)) (i32.store (i32.const 4116) (i32.const 10)) (i32.const 4096))
