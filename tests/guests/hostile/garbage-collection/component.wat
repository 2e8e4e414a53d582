(component (core module (type (struct (field i32)))))
