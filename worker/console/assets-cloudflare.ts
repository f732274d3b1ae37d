// The page's files through a binding: Cloudflare's static assets or, locally, workerd's disk
// service.

import type { Assets } from './assets.ts'

export interface AssetsBinding {
  fetch(url: string): Promise<Response>
}

/** With no binding configured there are no files. */
export function cloudflareAssets(binding: AssetsBinding | undefined): Assets {
  return {
    async read(name) {
      // Both services ignore the host, but a URL needs one.
      const response = await binding?.fetch(`https://assets/${name}`)
      if (response?.ok && response.body) return { body: response.body }
      await response?.body?.cancel()
      if (response === undefined || response.status === 404) return undefined
      throw new Error(`the assets service answered ${response.status} to ${name}`)
    },
  } satisfies Assets
}
