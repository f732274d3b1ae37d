// The tree of a task's Markdown.

import { describe, expect, it } from 'vitest'
import { type MarkdownNode, treeOf } from '../../../../console/board/detail/markdown-tree.ts'

/** One line for each node, indented by its depth. */
const drawn = (nodes: readonly MarkdownNode[], indent = ''): string[] =>
  nodes.flatMap((node) => {
    if (typeof node === 'string') return node.trim() === '' ? [] : [indent + node.trim()]
    const attributes = Object.entries(node.attributes).map(([key, value]) => ` ${key}=${value}`)
    return [indent + node.name + attributes.join(''), ...drawn(node.children, `${indent}  `)]
  })

const linesOf = (text: string) => drawn(treeOf(text) ?? ['refused'])

describe('the tree of Markdown', () => {
  it('holds what Markdown and its HTML mean, with the entities decoded', () => {
    expect(linesOf('# A "title" & more\n\nSome *words*<br><kbd>Enter</kbd>')).toEqual([
      'h3',
      '  A "title" & more',
      'p',
      '  Some',
      '  em',
      '    words',
      '  br',
      '  kbd',
      '    Enter',
    ])
  })

  it('has links in the place of images', () => {
    const link = (text: string) => ['p', '  a href=https://example.com/x.png', `    ${text}`]
    expect(linesOf('![plan](https://example.com/x.png)')).toEqual(link('plan'))
    expect(linesOf('![](https://example.com/x.png)')).toEqual(link('https://example.com/x.png'))
  })

  it('has no comments, and repeats nothing for tags that do not nest', () => {
    expect(linesOf('<!-- SECTION:BEGIN -->\n\nText')).toEqual(['p', '  Text'])
    const unclosed = Array.from({ length: 40 }, (_, i) => `<b title=${i}>`).join('')
    expect(linesOf(`<p>${unclosed}${'<p>'.repeat(9)}`)).toHaveLength(1 + 40 + 9)
  })

  it('is refused when it is too large or too deep for a page', () => {
    expect(linesOf('- a\n'.repeat(4_000))).not.toEqual(['refused'])
    expect(treeOf('- a\n'.repeat(10_000))).toBeUndefined()
    expect(treeOf(`${'> '.repeat(30)}a`)).toBeDefined()
    expect(treeOf(`${'> '.repeat(60)}a`)).toBeUndefined()
    expect(treeOf('<b>'.repeat(60))).toBeUndefined()
  })
})
