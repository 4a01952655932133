/**
 * Waits for `work`, but no longer than so many milliseconds. Whether it was done by then; rejects as it does.
 * `holds`: whether waiting keeps the process from ending. Default `true`.
 */
export async function within(ms: number, work: Promise<unknown>, { holds = true } = {}): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
    if (!holds) timer.unref();
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
