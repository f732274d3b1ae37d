import { describe, expect, it } from 'vitest'
import { findPort, findPorts } from '../../local/ports.ts'

describe('free ports', () => {
  it('that are found together are all different, and are free afterwards', async () => {
    const claims = await findPorts(Array.from({ length: 20 }, () => 0))
    const ports = claims.map((claim) => (claim.ok ? claim.port : 0))
    expect(new Set(ports).size).toBe(20)
    const again = await findPort(ports[0] ?? 0)
    expect(again).toEqual({ ok: true, port: ports[0] })
  })

  it('that are requested twice are found once', async () => {
    const [first] = await findPorts([0])
    const port = first?.ok ? first.port : 0
    const claims = await findPorts([port, port])
    expect(claims.map(({ ok }) => ok)).toEqual([true, false])
  })
})
