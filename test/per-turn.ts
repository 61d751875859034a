/** How much is done before anybody else has a turn: what holds a process up, whatever machine it is on. */

/** The most that was counted in one turn of the event loop, while the work was done. */
export async function mostInATurn(
  work: (count: (amount: number) => void) => Promise<unknown>,
): Promise<number> {
  let most = 0
  let inThisTurn = 0
  let over = false
  const turning = (async () => {
    while (!over) {
      await new Promise(setImmediate)
      inThisTurn = 0
    }
  })()
  try {
    await work((amount) => {
      inThisTurn += amount
      most = Math.max(most, inThisTurn)
    })
  } finally {
    over = true
    await turning
  }
  return most
}
