(import "tribunal:plugin/settings@1.0.0" "get" (func $settings (param i32)))
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (call $settings (i32.const 2000)) (call $say (i32.load (i32.const 2000)) (i32.load (i32.const 2004))))
