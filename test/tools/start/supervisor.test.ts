import { describe, expect, it } from 'vitest'
import type { Child, ChildSpec, Ending } from '../../../tools/start/child.ts'
import { RestartPolicy, Supervisor } from '../../../tools/start/supervisor.ts'

const spec = (name: string): ChildSpec => ({
  name,
  command: name,
  args: [],
  env: {},
  logFile: `/logs/${name}.log`,
  graceMs: 1_000,
})

/** A supervisor with children that run until a test ends them, and a clock that only it moves. */
function playground() {
  const events: string[] = []
  const timers: { at: number; call: () => void }[] = []
  const running = new Map<string, (ending: Ending) => void>()
  let now = 0
  let pid = 100

  const spawn = ({ name }: ChildSpec): Child => {
    const { promise, resolve } = Promise.withResolvers<Ending>()
    running.set(name, resolve)
    events.push(`spawn ${name}`)
    const end = (signal: NodeJS.Signals) => {
      events.push(`${signal} ${name}`)
      running.delete(name)
      resolve({ code: null, signal })
    }
    return {
      pid: pid++,
      ended: promise,
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    }
  }
  const supervisor = new Supervisor({
    spawn,
    now: () => now,
    after(ms, call) {
      const timer = { at: now + ms, call }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), 1)
    },
    notice: (sentence) => events.push(sentence),
  })
  return {
    supervisor,
    events,
    timers,
    async die(name: string, ending: Ending = { code: null, signal: 'SIGKILL' }) {
      running.get(name)?.(ending)
      await Promise.resolve()
    },
    advance(ms: number) {
      now += ms
      for (const timer of timers.filter(({ at }) => at <= now)) {
        timers.splice(timers.indexOf(timer), 1)
        timer.call()
      }
    },
  }
}

describe('the supervisor', () => {
  it('restarts a process that exited, with a notice, after its delay', async () => {
    const { supervisor, events, die, advance } = playground()
    supervisor.start(spec('sqld'))
    supervisor.keepAlive()
    await die('sqld')
    advance(249)
    expect(events).toEqual([
      'spawn sqld',
      'sqld (pid 100) was ended by SIGKILL; starting it again in 250 ms.',
    ])
    advance(1)
    expect(events.at(-1)).toBe('spawn sqld')
  })

  it('gives up on a process that exits again and again, and does not restart it', async () => {
    const { supervisor, events, die, advance } = playground()
    supervisor.start(spec('workerd'))
    supervisor.keepAlive()
    for (let death = 0; death < 5; death++) {
      await die('workerd', { code: 3, signal: null })
      advance(5_000)
    }
    const { sentence } = await supervisor.failed
    expect(sentence).toMatch(
      /^workerd .*exit code 3, 5 times within a minute; see \/logs\/workerd.log/,
    )
    expect(events.filter((event) => event === 'spawn workerd')).toHaveLength(5)
  })

  it('fails at once when a process exits before everything is ready', async () => {
    const { supervisor, events, die } = playground()
    supervisor.start(spec('workerd'))
    await die('workerd', { code: 1, signal: null })
    const { sentence } = await supervisor.failed
    expect(sentence).toMatch(/ended with exit code 1 before it was ready; see/)
    expect(events).toEqual(['spawn workerd'])
  })

  it('ends the processes one after the other, in reverse order of their start', async () => {
    const { supervisor, events } = playground()
    for (const name of ['sqld', 'workerd', 'sidecar']) supervisor.start(spec(name))
    supervisor.keepAlive()
    await supervisor.stop()
    expect(events.slice(3)).toEqual(['SIGTERM sidecar', 'SIGTERM workerd', 'SIGTERM sqld'])
  })

  it('does not restart a process while it ends all of them', async () => {
    const { supervisor, events, timers, die, advance } = playground()
    supervisor.start(spec('sqld'))
    supervisor.start(spec('sidecar'))
    supervisor.keepAlive()
    await die('sqld')
    expect(timers).toHaveLength(1)
    await supervisor.stop()
    advance(60_000)
    expect(timers).toHaveLength(0)
    expect(events.filter((event) => event.startsWith('spawn'))).toHaveLength(2)
  })

  it('starts nothing after it was stopped', async () => {
    const { supervisor, events } = playground()
    await supervisor.stop()
    supervisor.start(spec('sidecar'))
    expect(events).toEqual([])
  })

  it('kills all processes at once on request', async () => {
    const { supervisor, events } = playground()
    for (const name of ['sqld', 'workerd']) supervisor.start(spec(name))
    supervisor.kill()
    expect(events.slice(2)).toEqual(['SIGKILL sqld', 'SIGKILL workerd'])
  })
})

describe('the restart policy', () => {
  it('doubles the delay after each exit, and gives up at the fifth within a minute', () => {
    const policy = new RestartPolicy()
    const delays = [0, 1_000, 2_000, 3_000].map((now) => policy.onDeath(now))
    expect(delays).toEqual([250, 500, 1_000, 2_000].map((delayMs) => ({ again: true, delayMs })))
    expect(policy.onDeath(4_000)).toEqual({ again: false, deaths: 5 })
  })

  it('does not give up on a process that exits now and then', () => {
    const policy = new RestartPolicy()
    for (let minute = 0; minute < 1_000; minute++) {
      expect(policy.onDeath(minute * 60_000)).toEqual({ again: true, delayMs: 250 })
    }
  })
})
