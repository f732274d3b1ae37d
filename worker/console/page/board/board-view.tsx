// The board: columns of cards.

import type { Live } from '../live/live.ts'

export function BoardView({ live }: { live: Live }) {
  const tasks = [...(live.tasks.value?.values() ?? [])]
  return (
    <ul>
      {tasks.map((task) => (
        <li key={task.id}>
          {task.id} {task.title} {task.status}
        </li>
      ))}
    </ul>
  )
}
