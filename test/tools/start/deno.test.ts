import { describe, expect, it } from 'vitest'
import { acme } from '../../../examples/worker/acme.ts'
import { prepareDeno, reachable } from '../../../tools/start/deno.ts'

describe('the network of the edge under Deno', () => {
  it('is this machine and the hosts of its variables', () => {
    const variables = {
      LIBSQL_URL: 'http://127.0.0.1:9000',
      REDIRECT_GATEWAY_BASE_URL: 'https://pay.example',
      FIB_BASE_URL: 'http://127.0.0.1:9001',
      STRIPE_BASE_URL: 'http://127.0.0.1:9001',
      MOLLIE_BASE_URL: 'http://127.0.0.1:9001',
      PAYMENT_EVENTS_URL: 'https://shop.example:8443/events',
      FIB_CLIENT_ID: 'no url',
    }
    const hosts = reachable(8787, variables, {})
    const local = ['127.0.0.1:8787', '127.0.0.1', '127.0.0.1:9000', '127.0.0.1:9001']
    expect(new Set(hosts)).toEqual(new Set([...local, 'pay.example', 'shop.example:8443']))
  })

  it('has a gateway’s own host if no variable names another', () => {
    const simulated = { FIB_BASE_URL: 'http://127.0.0.1:9', REDIRECT_GATEWAY_BASE_URL: '' }
    expect(reachable(1, simulated, {})).toContain('api.stripe.com')
    expect(reachable(1, {}, {})).toContain('fib.prod.fib.iq')
    expect(reachable(1, simulated, {})).not.toContain('fib.prod.fib.iq')
    const file = { payments: { drivers: { acme } } }
    expect(reachable(1, {}, file)).toContain('api.acme.example')
    expect(reachable(1, {}, {})).not.toContain('api.acme.example')
  })
})

describe('the files of the edge under Deno', () => {
  const plan = {
    port: 1,
    dir: '/data/deno',
    home: '/home',
    variables: {},
    env: {},
    logFile: '/log',
  }
  const allowed = async (consoleDir: string) => {
    const { args } = await prepareDeno({ ...plan, consoleDir })
    return args.filter((arg) => /^--(allow|deny)-(read|write)/.test(arg))
  }

  it('are its own, and it cannot write those of the console, wherever they are', async () => {
    expect(await allowed('/data/deno/console')).toEqual([
      '--allow-read=/data/deno,/data/deno/console',
      '--allow-write=/data/deno',
      '--deny-write=/data/deno/console',
    ])
  })
})
