(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (local $zero f64)
  (i64.store (i32.const 8192) (i64.reinterpret_f64 (f64.div (local.get $zero) (local.get $zero))))
  (i64.store (i32.const 8200) (i64.reinterpret_f64 (f64.neg (f64.sqrt (f64.const -1)))))
  ;; The sign bit of each, as a digit; the second one is turned by `neg`.
  (i32.store8 (i32.const 3000) (i32.add (i32.const 48) (i32.shr_u (i32.load8_u (i32.const 8199)) (i32.const 7))))
  (i32.store8 (i32.const 3001) (i32.add (i32.const 47) (i32.shr_u (i32.load8_u (i32.const 8207)) (i32.const 7))))
  (call $say (i32.const 3000) (i32.const 2)))
