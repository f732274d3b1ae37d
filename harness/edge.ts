// How the edge runs on each host.

import { readFile, writeFile } from 'node:fs/promises'
import { bundleWorker } from '../local/bundle.ts'
import { prepareDeno } from '../local/deno.ts'
import type { PrepareEdge } from '../local/edge.ts'
import { prepareNode } from '../local/node.ts'
import { prepareWorkerd } from '../local/workerd.ts'

export const HOSTS = ['workerd', 'deno', 'node'] as const
export type Host = (typeof HOSTS)[number]

export const PREPARE: Readonly<Record<Host, PrepareEdge>> = {
  workerd: (plan) => prepareWorkerd(plan, bundleOnce),
  deno: prepareDeno,
  node: prepareNode,
}

const bundles = new Map<string, Promise<Buffer>>()

/** No source changes in a run, so all its edges can use one bundle. */
async function bundleOnce(entry: string, outfile: string): Promise<void> {
  const made = bundles.get(entry)
  if (made) return await writeFile(outfile, await made)
  const bundled = bundleWorker(entry, outfile).then(() => readFile(outfile))
  bundles.set(entry, bundled)
  await bundled
}
