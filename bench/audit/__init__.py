# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""What ``nova-manage placement audit`` costs: stock beside fork.

A cloud is written into Nova's and Placement's own tables: hosts, servers,
live migrations in progress and a few orphans. The real Placement serves it
over HTTP, and both audits are run on it as an operator runs them. Each is
measured from outside: wall and CPU seconds, peak memory, requests to
Placement, SELECTs. Beside them stands the floor, which no audit that reads
everything can go below: a minimal client that reads and does nothing else.

Placement has a process for each connection, as a cloud has several of them:
who asks one thing at a time has one of them work, who asks several at once
has as many, as far as there are CPUs.

Both audits must report the same orphans. The stock release reports also what
live migrations hold on their destinations; just these, and nothing else.

``tox -e bench-audit -- --help`` says how to use it.

======================  ================================================
:mod:`.options`         what is asked for
:mod:`.cloud`           what there is in the cloud
:mod:`.nova_rows`       the same as rows of Nova's tables
:mod:`.placement_rows`  the same as rows of Placement's
:mod:`.writer`          writes rows
:mod:`.databases`       where the databases are: SQLite, MySQL
:mod:`.mariadb`         a private server of MariaDB
:mod:`.config`          configuration files
:mod:`.schemas`         empty databases, to be copied
:mod:`.placement`       a running Placement
:mod:`.site`            a cloud that runs and can be audited
:mod:`.nova`            a nova, and the commands that run it
:mod:`.pair`            the two that are compared
:mod:`.process`         runs a program and says what it took
:mod:`.launcher`        the small process in between
:mod:`.subjects`        what is measured
:mod:`.trial`           measures all on one site
:mod:`.findings`        what the audits report, and whether that is right
:mod:`.show`            the tables
======================  ================================================

What is in ``inside/`` runs in the environment of a series, on the Python of
that series.
"""
