// Put into a server from outside: tells on SIGUSR2 how much memory it holds once all garbage is gone.
process.on('SIGUSR2', () => {
  gc();
  setTimeout(() => {
    gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.stderr.write(`MEMORY ${JSON.stringify({ rss, heapUsed, external })}\n`);
  }, 100);
});
