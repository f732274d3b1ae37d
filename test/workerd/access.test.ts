import { SELF } from 'cloudflare:test'
import { accessContract } from '../contract/access.ts'
import type { Edge } from '../support/edge.ts'
import { documentedFetch } from '../support/openapi-operations.ts'

const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }
accessContract('workerd', { edge: () => edge })
