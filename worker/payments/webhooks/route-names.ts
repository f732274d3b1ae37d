// The two webhook routes, by name. Their paths are made only here: for the app, the callback URLs
// that gateways get, the doctor and the documentation. Pure.

import type { WebhookRoute } from '../facade.ts'

/** @forTests The documentation has both. */
export const WEBHOOK_ROUTES = {
  'payments.webhook': '/{route_prefix}/{gateway}',
  'payments.webhook.callback': '/{route_prefix}/{gateway}/callback',
} as const satisfies Record<WebhookRoute, string>

export const WEBHOOK_ROUTE_NAMES = Object.keys(WEBHOOK_ROUTES) as WebhookRoute[]

/** The prefix that signalbox.config.ts has, without slashes around it. */
export const routePrefixOf = ({
  payments,
}: {
  payments?: { webhooks?: { route_prefix?: string } }
}): string =>
  (payments?.webhooks?.route_prefix ?? 'payments/webhooks').replace(/^\/+|(?<!\/)\/+$/g, '')

/**
 * A webhook's path as its route has it. An address that a person entered at a gateway may have a
 * slash too many: with a 404 every webhook would be lost. Other paths are unchanged.
 */
export function webhookPath(path: string, routePrefix: string): string {
  if (!path.includes('//') && !path.endsWith('/')) return path
  const single = path.replace(/\/+/g, '/').replace(/\/$/, '')
  return single.startsWith(`/${routePrefix}/`) ? single : path
}

/** `gateway`: its key, or a pattern of the router. */
export const routePath = (name: WebhookRoute, routePrefix: string, gateway: string): string =>
  WEBHOOK_ROUTES[name]
    .replace('{route_prefix}', () => routePrefix)
    .replace('{gateway}', () => gateway)
