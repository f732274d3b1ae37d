import { availableParallelism } from 'node:os'
import { cloudflareTest } from '@cloudflare/vitest-pool-workers'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Where CI wants a report that it can count.
const { TEST_REPORT } = process.env

// They end what hangs, and prove nothing: a machine may be busy with other work for seconds. What is
// waited for is a state, and comes as a rule within milliseconds.
const PATIENCE_MS = 30_000
const patient = {
  testTimeout: 4 * PATIENCE_MS,
  hookTimeout: 4 * PATIENCE_MS,
  expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
}

// They wait more than they work: for child processes, timers and git. With one for each core, `node`
// used 50 to 80 % of two. All projects share them, so that none waits for another's last file.
const WORKERS = Math.max(4, availableParallelism())

// Node imports the files itself: 131 of them took 44 s of CPU time with Vite's transforms, and take
// 38. `vi.mock` and `vi.hoisted` have no effect.
const NATIVE = { viteModuleRunner: false, nodeLoader: false }

// Room for what is young: most of what a test makes is garbage at its end, and V8 copied it again and
// again. 30 files took 55 s of CPU time without it, and take 50.
const YOUNG = ['--min-semi-space-size=32', '--max-semi-space-size=64']

// Without Vite's condition `development`, by which a package may give its sources in TypeScript: Node
// takes none from node_modules. What a configuration says is only added to Vitest's own.
const asNode: Plugin = {
  name: 'conditions-of-node',
  configResolved({ ssr }) {
    if (ssr.resolve) ssr.resolve.conditions = ['node']
  },
}

// A worker ends where the next file is of another project. The last ones are short.
const PROJECTS = ['system', 'workerd', 'node']

// Those that took longest, each project's in their order. Vitest starts the largest files first, and
// some of these are small: the suite would end with one of them alone for minutes.
// biome-ignore format: several names a line.
const LONGEST = [
  'faults/prove', 'e2e/package', 'e2e/board-tools', 'e2e/agents-that-claim', 'e2e/many-boards',
  'e2e/workerd', 'e2e/agents-that-wait', 'browser/console-payments', 'e2e/one-request',
  'trees/trees-model', 'cli/wait', 'worker/node-contract', 'cli/claim', 'sidecar/recorded-boards',
  'sidecar/messages', 'cli/mcp',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turn = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at === -1 ? LONGEST.length : at
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => turn(a) - turn(b) || rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-home.ts',
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    reporters: TEST_REPORT ? ['default', ['json', { outputFile: TEST_REPORT }]] : ['default'],
    projects: [
      {
        plugins: [asNode],
        test: {
          ...patient,
          name: 'node',
          // Its files leave nothing behind, and share what they import. With a process for each file
          // they took 133 s of CPU, and take 95.
          isolate: false,
          execArgv: YOUNG,
          experimental: NATIVE,
          setupFiles: 'test/support/each-file.ts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/workerd/**', 'test/e2e/**', 'test/browser/**', 'test/faults/**'],
        },
      },
      {
        // Whole systems on real ports and real files. They wait more than they work.
        plugins: [asNode],
        test: {
          ...patient,
          // A look at a whole system is a request or a walk over /proc.
          expect: { poll: { timeout: PATIENCE_MS, interval: 50 } },
          name: 'system',
          globalSetup: 'test/support/built-program.ts',
          // As above: its test processes took 91 s of CPU, and take 64.
          isolate: false,
          execArgv: YOUNG,
          experimental: NATIVE,
          setupFiles: 'test/support/each-file.ts',
          include: ['test/{e2e,browser,faults}/**/*.test.ts'],
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { AUTH_SECRETS: 'a-secret-for-tests-of-32-bytes-or-more' } },
          }),
        ],
        test: {
          ...patient,
          name: 'workerd',
          include: ['test/workerd/**/*.test.ts'],
        },
      },
    ],
  },
})
