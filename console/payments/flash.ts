// How a row or an entry shows for a moment that it has changed. Pure.

/** The class for it. Two names of one flash: an animation starts again only under another name. */
export const flashOf = (changes: number): string =>
  changes === 0 ? '' : changes % 2 === 0 ? 'flash-even' : 'flash-odd'
