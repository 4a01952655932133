/** Whether a process of this machine is there, whoever's it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and somebody else's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
