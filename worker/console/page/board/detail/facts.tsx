// The fields of a task, and the tasks it hangs together with.

import type { ComponentChildren } from 'preact'
import type { Task } from '../../../../board/wire.ts'
import type { TaskDetail } from '../../../client/index.ts'
import { formatRoute } from '../../address.ts'
import type { Live } from '../../live/live.ts'
import { Age } from '../../time.tsx'
import { words } from '../../words.ts'
import { PriorityChip } from '../card-chips.tsx'
import { statusName } from '../columns.ts'

export function Facts({ task, live }: { task: TaskDetail; live: Live }) {
  const say = words.board.detail.facts
  const tasks = live.tasks.value ?? new Map<string, Task>()
  const { assignee, priority, labels = [], parent, deps = [], updatedAt, rank } = task
  const subtasks = [...tasks.values()].filter((other) => other.parent === task.id)
  return (
    <dl class="task-facts">
      {assignee && <Fact name={say.assignee}>{assignee}</Fact>}
      {priority && (
        <Fact name={say.priority}>
          <PriorityChip priority={priority} />
        </Fact>
      )}
      {labels.length > 0 && (
        <Fact name={say.labels}>
          <span class="chips">
            {labels.map((label) => (
              <span class="chip" key={label} dir="auto">
                {label}
              </span>
            ))}
          </span>
        </Fact>
      )}
      {parent !== undefined && (
        <Fact name={say.parent}>
          <TaskLinks ids={[parent]} tasks={tasks} />
        </Fact>
      )}
      {deps.length > 0 && (
        <Fact name={say.deps}>
          <TaskLinks ids={deps} tasks={tasks} />
        </Fact>
      )}
      {subtasks.length > 0 && (
        <Fact name={say.subtasks}>
          <TaskLinks ids={subtasks.map(({ id }) => id)} tasks={tasks} />
        </Fact>
      )}
      {updatedAt !== undefined && (
        <Fact name={say.updated}>
          <Age at={updatedAt} />
        </Fact>
      )}
      {rank !== undefined && <Fact name={say.rank}>{rank}</Fact>}
      {task.activeAttempt !== undefined && (
        <Fact name={say.attempt}>
          <span class="mono">{task.activeAttempt}</span>
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface TaskLinksProps {
  ids: readonly string[]
  tasks: ReadonlyMap<string, Task>
}

function TaskLinks({ ids, tasks }: TaskLinksProps) {
  return (
    <ul class="task-links">
      {ids.map((id) => {
        const task = tasks.get(id)
        if (!task) {
          return (
            <li key={id}>
              <span class="id">{id}</span>{' '}
              <span class="soft">{words.board.detail.facts.noDep}</span>
            </li>
          )
        }
        return (
          <li key={id}>
            <a href={formatRoute({ view: 'board', id, query: {} })} data-open={id}>
              <span class="id">{id}</span> <span dir="auto">{task.title}</span>
            </a>{' '}
            <span class="soft">{statusName(task.status)}</span>
          </li>
        )
      })}
    </ul>
  )
}
