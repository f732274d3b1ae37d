// The public API of the package `signalbox/testing`: what a driver of one's own is tested with.

export { FakeClock } from './fake-clock.ts'
export { type GatewayCase, type GatewayFixtures, gatewayContract } from './gateway-contract.ts'
export {
  type Answer,
  GatewaySetup,
  json,
  noConnection,
  page,
  type Sent,
  silence,
} from './gateway-setup.ts'
