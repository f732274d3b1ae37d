// `signalbox` in a checkout: every command.

import { CHECKOUT } from './checkout.ts'
import { runProcess } from './process.ts'

await runProcess({
  commands: CHECKOUT,
  loadFile: async () => (await import('../signalbox.config.ts')).default,
  loadHome: async () => (await import('../local/checkout-home.ts')).checkoutHome,
})
