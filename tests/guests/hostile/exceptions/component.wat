(component (core module (tag) (func (throw 0))))
