/**
 * Who may call what of the home, in words of our own: not read from the declarations, so that a
 * guard which is left out of one does not leave its test with it.
 */
export interface Rights {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly access: 'anyone' | 'idempotency-key' | 'either-token' | 'operator-token'
  /** The agent token works while the agent is paused. */
  readonly whilePaused: boolean
  readonly budget: string
}

const rights = (
  operationId: string,
  at: string,
  access: Rights['access'],
  budget: string,
  whilePaused = false,
): Rights => {
  const [method, path] = at.split(' ') as [Rights['method'], string]
  return { operationId, method, path, access, budget, whilePaused }
}

export const homeRights: readonly Rights[] = [
  rights('previewAgent', 'GET /api/agents/preview', 'anyone', 'births', true),
  rights('birthAgent', 'POST /api/agents/birth', 'idempotency-key', 'births', true),
  rights('readProfile', 'GET /api/agents/me', 'either-token', 'reads', true),
  rights('setStatus', 'PATCH /api/agents/me', 'operator-token', 'controls'),
  rights('readMemory', 'GET /api/agents/me/memory', 'either-token', 'reads'),
  rights('writeMemory', 'POST /api/agents/me/memory', 'either-token', 'writes'),
  rights('exportMemories', 'GET /api/agents/me/export', 'either-token', 'exports'),
  rights('rotateAgentKey', 'POST /api/agents/me/keys', 'operator-token', 'controls'),
]
