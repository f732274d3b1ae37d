// The page's files behind a binding: Cloudflare's static assets or, locally, a disk service of
// workerd.

import type { Assets } from './assets.ts'

/** What this file needs of the binding. */
export interface AssetsBinding {
  fetch(url: string): Promise<Response>
}

/** Undefined: the Worker was given no such binding, so there are no files. */
export function cloudflareAssets(binding: AssetsBinding | undefined): Assets {
  return {
    async read(name) {
      // Neither looks at the host, and a request needs one.
      const answer = await binding?.fetch(`https://assets/${name}`)
      if (answer?.ok && answer.body) return { body: answer.body }
      await answer?.body?.cancel()
      if (answer === undefined || answer.status === 404) return undefined
      throw new Error(`the assets answered ${answer.status} to ${name}`)
    },
  } satisfies Assets
}
