// The simulations, by the names of the drivers that are included: there is one for each.

import type { DriverName } from '../worker/payments/gateways/registry.ts'
import { fib } from './fib.ts'
import { mollie } from './mollie.ts'
import { redirect } from './redirect.ts'
import type { Simulation } from './simulator.ts'
import { stripe } from './stripe.ts'

export const SIMULATIONS = { redirect, fib, stripe, mollie } satisfies Record<
  DriverName,
  Simulation
>
