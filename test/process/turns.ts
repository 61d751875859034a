/** The program, which says how long the longest turn of its event loop was since it was asked last. */
import { threadMs } from '../http/longest-wait.ts'

let longest = 0
let asked = 0
let before = threadMs()

function look(): void {
  const now = threadMs()
  longest = Math.max(longest, now - before)
  before = now
  lookAfterThisTurn()
}

/** A turn begins with what wakes the loop, and nothing of this does. */
function lookAfterThisTurn(): void {
  setImmediate(look).unref()
}
lookAfterThisTurn()

process.on('SIGUSR2', () => {
  console.log(`longest turn ${++asked}: ${longest} ms`)
  longest = 0
})

await import('../../src/main.ts')
