import { SELF } from 'cloudflare:test'
import { accessContract } from '../contract/access.ts'
import { boardContract } from '../contract/board.ts'
import type { Edge } from '../support/edge.ts'

const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: (path, init) => SELF.fetch(`${origin}${path}`, init) }
boardContract('workerd', { edge: () => edge, sendsConnection: true })
accessContract('workerd', { edge: () => edge })
