// The fields of a task, its related tasks, and fields that Signalbox does not know.

import type { Task } from '../../../api/types.ts'
import type { TaskDetail } from '../../../client/index.ts'
import { formatRoute } from '../../address.ts'
import type { Live } from '../../data/live/live.ts'
import { Fact } from '../../ui/fact.tsx'
import { Age } from '../../ui/time.tsx'
import { LabelChips, PriorityChip } from '../card-chips.tsx'
import { assigneesOf } from '../cards.ts'
import { statusName } from '../columns.ts'
import { detailWords } from './words.ts'

export function Facts({ task, live }: { task: TaskDetail; live: Live }) {
  const texts = detailWords.facts
  const tasks = live.tasks.value ?? new Map<string, Task>()
  const { priority, labels = [], parent, deps = [], updatedAt, rank, folder } = task
  const assignees = assigneesOf(task)
  const subtasks = [...tasks.values()].filter((other) => other.parent === task.id)
  return (
    <dl class="task-facts">
      <Fact name={texts.assignees(assignees.length)}>{assignees.join(', ')}</Fact>
      <Fact name={texts.priority}>{priority && <PriorityChip priority={priority} />}</Fact>
      <Fact name={texts.type}>{task.type}</Fact>
      <Fact name={texts.milestone}>{task.milestone}</Fact>
      <Fact name={texts.due}>{task.dueDate}</Fact>
      <Fact name={texts.complexity}>{task.complexity}</Fact>
      <Fact name={texts.folder}>{folder && statusName(folder)}</Fact>
      <Fact name={texts.tag}>{task.tag}</Fact>
      <Fact name={texts.labels}>
        {labels.length > 0 && (
          <span class="chips">
            <LabelChips labels={labels} />
          </span>
        )}
      </Fact>
      <Fact name={texts.parent}>{parent && <TaskLinks ids={[parent]} tasks={tasks} />}</Fact>
      <Fact name={texts.deps}>{deps.length > 0 && <TaskLinks ids={deps} tasks={tasks} />}</Fact>
      <Fact name={texts.subtasks}>
        {subtasks.length > 0 && <TaskLinks ids={subtasks.map(({ id }) => id)} tasks={tasks} />}
      </Fact>
      <Fact name={texts.updated}>{updatedAt && <Age at={updatedAt} />}</Fact>
      <Fact name={texts.rank}>{rank}</Fact>
      <Fact name={texts.attempt}>
        {task.activeAttempt && <span class="mono">{task.activeAttempt}</span>}
      </Fact>
    </dl>
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
              <span class="id">{id}</span> <span class="soft">{detailWords.facts.noDep}</span>
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

export function Extra({ fields }: { fields: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="task-facts extra">
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {typeof value === 'string' ? value : <pre>{JSON.stringify(value, undefined, 2)}</pre>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
