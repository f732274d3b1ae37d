import { SELF } from 'cloudflare:test'
import { consoleSessionContract } from '../contract/console-session.ts'
import type { Edge } from '../support/edge.ts'
import { documentedFetch } from '../support/openapi-operations.ts'

const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }
consoleSessionContract('workerd', { edge: () => edge })
