// The public API of the package `signalbox/testing`: what a driver of one's own is tested with.

export { FakeClock } from './fake-clock.ts'
export { type GatewayCase, gatewayContract } from './gateway-contract.ts'
export type { GatewayEvent, GatewayFixtures, HeldPayment } from './gateway-fixtures.ts'
export {
  type Answer,
  GatewaySetup,
  json,
  noConnection,
  page,
  type Sent,
  silence,
} from './gateway-setup.ts'
