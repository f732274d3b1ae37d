// `signalbox` in a checkout: every command.

import { CHECKOUT } from './checkout.ts'
import { runProcess } from './process.ts'
import { UsageError } from './settings.ts'

await runProcess({
  commands: CHECKOUT,
  async loadFile({ skips }) {
    if (skips) {
      const why = 'whose signalbox.config.ts is a part of the program'
      throw new UsageError(`--no-config has no effect in a checkout, ${why}.`)
    }
    return (await import('../signalbox.config.ts')).default
  },
  loadHome: async () => (await import('../local/checkout-home.ts')).checkoutHome,
})
