import wit_world
from tribunal import bridge

import {{module}} as plugin


class WitWorld(wit_world.WitWorld):
    def describe(self):
        return bridge.describe(plugin)

    def {{entry}}(self, *given):
        return bridge.{{entry}}(plugin, *given)
