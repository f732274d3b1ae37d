// The middleware named `api`: what any answer to a machine carries.

import type { Middleware } from '../define-config.ts'

export const apiMiddleware: Middleware = async (_request, next) => {
  const response = await next()
  response.headers.set('Cache-Control', 'no-store')
  response.headers.set('X-Content-Type-Options', 'nosniff')
  return response
}
