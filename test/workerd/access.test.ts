import { SELF } from 'cloudflare:test'
import { accessContract } from '../contract/access.ts'
import type { Edge } from '../support/edge.ts'

const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: (path, init) => SELF.fetch(`${origin}${path}`, init) }
accessContract('workerd', { edge: () => edge })
