import { SELF } from 'cloudflare:test'
import { consoleSessionContract } from '../contract/console-session.ts'
import type { Edge } from '../support/edge.ts'

const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: (path, init) => SELF.fetch(`${origin}${path}`, init) }
consoleSessionContract('workerd', { edge: () => edge })
