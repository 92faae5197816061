// @ts-check
// Calls of the server: the functions that the commands call.

/** An error of the server: one message, and the place of each detail. */
export class ServerError extends Error {
  /** @param {{ text: string, details?: { key: string, message: string }[] }} error */
  constructor({ text, details = [] }) {
    super(text);
    this.details = details;
  }
}

/** @param {string} name
 * @param {object} body
 * @param {AbortSignal} [signal] */
const post = (name, body, signal) =>
  fetch(`api/${name}`, { method: "POST", body: JSON.stringify(body), signal });

/** Makes a call that is answered at once.
 * @param {string} name
 * @param {object} body
 * @returns {Promise<any>} */
export async function call(name, body) {
  const answer = await (await post(name, body)).json();
  if (answer?.error) throw new ServerError(answer.error);
  return answer;
}

/** Makes a call that takes long, and hands over its events as they come; returns its result, or
 * undefined if it was stopped.
 * @param {string} name
 * @param {object} body
 * @param {(event: any) => void} onEvent
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
export async function stream(name, body, onEvent, signal) {
  const response = await post(name, body, signal);
  if (!response.body) return undefined;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = lines.pop() ?? "";
    if (done && rest) lines.push(rest);
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.error) throw new ServerError(event.error);
      if ("result" in event || event.stopped) return event.result;
      onEvent(event);
    }
    if (done) return undefined;
  }
}

/** Calls that replace each other: a new one stops the one before. */
export class Latest {
  constructor() {
    /** @type {AbortController | null} */
    this.running = null;
  }

  stop() {
    this.running?.abort();
    this.running = null;
  }

  /** Makes a call as `stream` does; returns undefined once another has replaced it.
   * @param {string} name
   * @param {object} body
   * @param {(event: any) => void} onEvent
   * @returns {Promise<any>} */
  async stream(name, body, onEvent) {
    this.stop();
    const own = (this.running = new AbortController());
    try {
      const result = await stream(
        name,
        body,
        (event) => own.signal.aborted || onEvent(event),
        own.signal,
      );
      return own.signal.aborted ? undefined : result;
    } catch (error) {
      if (own.signal.aborted) return undefined;
      throw error;
    } finally {
      if (this.running === own) this.running = null;
    }
  }
}
