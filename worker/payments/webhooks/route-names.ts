// The two routes that gateways call back, by name. Whatever needs one of their paths asks here: the
// app, the addresses that gateways are given, the doctor, the documentation. Pure.

import type { SignalboxFile } from '../define-config.ts'

/** They do the same. */
export const WEBHOOK_ROUTES = {
  'payments.webhook': '/{route_prefix}/{gateway}',
  'payments.webhook.callback': '/{route_prefix}/{gateway}/callback',
} as const

export type WebhookRoute = keyof typeof WEBHOOK_ROUTES

export const WEBHOOK_ROUTE_NAMES = Object.keys(WEBHOOK_ROUTES) as WebhookRoute[]

/** As it is configured, without slashes around it. */
export const routePrefixOf = ({ payments }: SignalboxFile): string =>
  (payments?.webhooks?.route_prefix ?? 'payments/webhooks').replace(/^\/+|\/+$/g, '')

/** `gateway`: its key, or a router's pattern for any. */
export const routePath = (name: WebhookRoute, routePrefix: string, gateway: string): string =>
  WEBHOOK_ROUTES[name]
    .replace('{route_prefix}', () => routePrefix)
    .replace('{gateway}', () => gateway)
