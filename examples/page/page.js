import { watchBoard } from './client.js'

const where = await (await fetch('board.json')).json()
const line = (text) => Object.assign(document.createElement('li'), { textContent: text })
watchBoard({
  ...where,
  onTasks: (tasks) =>
    document
      .getElementById('tasks')
      .replaceChildren(...tasks.map(({ id, title, status }) => line(`${id} ${title}: ${status}`))),
  onState: ({ name }) => {
    document.getElementById('state').textContent = name
  },
})
