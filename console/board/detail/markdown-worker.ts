// The worker that parses Markdown: a hostile task keeps it busy, and not the page.

import { treeOf } from './markdown-tree.ts'

self.onmessage = ({ data }: MessageEvent<string>) => postMessage(treeOf(data))

// It runs.
postMessage(undefined)
