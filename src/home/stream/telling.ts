/** A store that tells, after each change, in whose home it was. */
import type { HomeStore, Identity } from '../../store/port/home.ts'

type Change<Args extends readonly unknown[], T> = (identity: Identity, ...args: Args) => Promise<T>

/** Told also where it failed: what was asked for may have happened. */
const telling =
  (tell: (agentId: string) => void) =>
  <Args extends readonly unknown[], T>(change: Change<Args, T>): Change<Args, T> =>
  (identity, ...args) => {
    const changed = change(identity, ...args)
    const told = () => tell(identity.agentId)
    changed.then(told, told)
    return changed
  }

export function tellingOf(store: HomeStore, tell: (agentId: string) => void): HomeStore {
  const told = telling(tell)
  return {
    ...store,
    writeMemory: told(store.writeMemory),
    changeMemories: told(store.changeMemories),
    eraseMemory: told(store.eraseMemory),
    recordEvent: told(store.recordEvent),
    setStatus: told(store.setStatus),
    changeProfile: told(store.changeProfile),
    rotateAgentToken: told(store.rotateAgentToken),
    createKey: told(store.createKey),
    endKey: told(store.endKey),
    replaceOperatorToken: told(store.replaceOperatorToken),
    eraseAgent: told(store.eraseAgent),
  }
}
