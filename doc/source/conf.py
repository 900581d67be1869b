# SPDX-License-Identifier: Apache-2.0
# Copyright nova-ledger contributors
"""Sphinx's settings."""
project = 'nova-ledger'
copyright = 'nova-ledger contributors'
extensions = []
html_theme = 'alabaster'
html_theme_options = {
    'description': 'A fork of OpenStack Nova whose books balance',
    'fixed_sidebar': True,
}
html_show_sourcelink = False
