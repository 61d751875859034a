/** An answer of ours, for the bare server to send. */

export interface Fixed {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Node sends these of itself. */
const OF_NODE = new Set(['connection', 'date', 'keep-alive'])

/** What the service answers when this memory is read. */
export async function answerOf(url: URL | string, token: string, key: string): Promise<Fixed> {
  const response = await fetch(new URL(`/api/agents/me/memory?key=${key}`, url), {
    headers: { authorization: `Bearer ${token}` },
  })
  const headers = [...response.headers].filter(([name]) => !OF_NODE.has(name))
  return { headers: Object.fromEntries(headers), body: await response.text() }
}
