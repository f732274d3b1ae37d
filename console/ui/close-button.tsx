// Closes what stands on top of the view.

import { words } from '../words.ts'

export function CloseButton({ onClose }: { onClose(): void }) {
  return (
    <button type="button" class="close" aria-label={words.close} onClick={onClose}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M3 3l10 10M13 3L3 13" />
      </svg>
    </button>
  )
}
