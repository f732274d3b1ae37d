import { SELF } from 'cloudflare:test'
import { accessContract } from '../contract/access.ts'
import { boardContract } from '../contract/board.ts'
import type { Edge } from '../support/edge.ts'

const edge: Edge = { fetch: (path, init) => SELF.fetch(`https://edge.test${path}`, init) }
boardContract('workerd', { edge: () => edge, sendsConnection: true })
accessContract('workerd', { edge: () => edge })
