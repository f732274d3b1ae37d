import { SELF } from 'cloudflare:test'
import { boardContract } from '../contract/board.ts'

boardContract('workerd', {
  edge: () => ({ fetch: (path, init) => SELF.fetch(`https://edge.test${path}`, init) }),
  sendsConnection: true,
})
